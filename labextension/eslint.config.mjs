/** Type-aware rules for the sources; generated files and build output are not ours to lint. */
import js from '@eslint/js';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** A switch on a union ends in `assertNever`; a promise is awaited or its failure handled. */
const sources = {
  files: ['src/**/*.{ts,tsx}', 'vitest.*.ts'],
  extends: [
    js.configs.recommended,
    ...tseslint.configs.strictTypeChecked,
    ...tseslint.configs.stylisticTypeChecked,
    reactHooks.configs.flat['recommended-latest'],
    jsxA11y.flatConfigs.strict,
  ],
  languageOptions: {
    parserOptions: { project: ['./tsconfig.check.json'], tsconfigRootDir: import.meta.dirname },
  },
  rules: {
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-console': 'error',
    '@typescript-eslint/consistent-type-imports': 'error',
    '@typescript-eslint/consistent-type-definitions': 'off',
    '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    '@typescript-eslint/no-misused-promises': [
      'error',
      { checksVoidReturn: { attributes: false } },
    ],
    '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    '@typescript-eslint/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    // JupyterFrontEndPlugin<void>
    '@typescript-eslint/no-invalid-void-type': [
      'error',
      { allowInGenericTypeArguments: true, allowAsThisParameter: true },
    ],
    // HTML made from text is how chats become attacks: only the Markdown renderer, behind the sanitizer
    'no-restricted-properties': [
      'error',
      ...['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map(property => ({
        property,
        message: 'Build nodes, or go through the Markdown renderer and its sanitizer.',
      })),
    ],
    'no-restricted-syntax': [
      'error',
      {
        selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
        message: 'Build nodes, or go through the Markdown renderer and its sanitizer.',
      },
    ],
  },
};

/** The reducer, the splitter and the words know no JupyterLab, so their tests start at once. */
const pureRooms = {
  files: ['src/protocol/**/*.ts', 'src/state/**/*.ts', 'src/markdown/**/*.ts'],
  ignores: ['**/*.test.ts'],
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: ['@jupyterlab/*', '@lumino/*', 'react', 'react-dom', 'react-dom/*'],
            allowTypeImports: true,
            message: 'protocol, state and markdown are pure: no JupyterLab and no React.',
          },
        ],
      },
    ],
  },
};

const tests = {
  files: ['src/**/*.test.{ts,tsx}', 'src/testing/**'],
  rules: {
    // a test that indexes past the end fails, which is what it is for
    '@typescript-eslint/no-non-null-assertion': 'off',
    'no-restricted-properties': 'off',
  },
};

export default tseslint.config(
  { ignores: ['lib/', 'node_modules/', 'src/protocol/generated.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  sources,
  pureRooms,
  tests,
);
