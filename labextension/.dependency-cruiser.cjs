/** Rooms look down only: plugins > panel, widget > components > state > client, markdown > protocol. */
const layers = [
  ['plugins'],
  ['panel', 'widget'],
  ['components'],
  ['state'],
  ['client', 'markdown'],
  ['protocol'],
];

const forbidden = [
  { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
  { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  {
    name: 'no-unlisted-room',
    comment: 'A new folder gets a place in `layers` above, or stays outside src.',
    severity: 'error',
    from: {
      path: '^src/',
      pathNot: `^src/(${[...layers.flat(), 'testing'].join('|')})/|^src/index\\.ts$`,
    },
    to: {},
  },
  {
    name: 'tests-are-leaves',
    severity: 'error',
    from: { path: '^src/', pathNot: '\\.test\\.tsx?$|^src/testing/' },
    to: { path: '\\.test\\.tsx?$|^src/testing/' },
  },
];

layers.forEach((layer, i) =>
  layer.forEach(room => {
    const above = layers.slice(0, i).flat();
    const beside = layer.filter(other => other !== room);
    const not = [...above, ...beside];
    if (not.length > 0) {
      forbidden.push({
        name: `${room}-looks-down-only`,
        severity: 'error',
        from: { path: `^src/${room}/` },
        to: { path: `^src/(${not.join('|')})/` },
      });
    }
  }),
);

module.exports = {
  forbidden,
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'default', 'types'],
    },
  },
};
