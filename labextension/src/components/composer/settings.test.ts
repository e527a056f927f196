/** The pickers offer what the agent, the mode and the administrator allow, and say why not. */
import { describe, expect, it } from 'vitest';

import type { Provider } from '../../protocol/generated';
import { english } from '../common/trans';
import {
  agentOptions,
  effectivePermission,
  effortOptions,
  modelOf,
  modelOptions,
  modeOptions,
  permissionOptions,
  raisesToFull,
  type ChatSettings,
  type ILimits,
} from './settings';

const PROVIDER = {
  id: 'claude',
  name: 'Claude Code',
  description: '',
  state: 'ready',
  available: true,
  reason: null,
  models: [
    {
      id: 'sonnet',
      name: 'Sonnet',
      efforts: ['low', 'high'],
      tiers: [],
      context_window: null,
      default: true,
    },
    { id: 'haiku', name: 'Haiku', efforts: [], tiers: [], context_window: null, default: false },
  ],
  modes: ['code', 'plan'],
  permissions: ['ask', 'read_only', 'full'],
  permission_notes: { ask: 'Edits in git are not asked.' },
} as unknown as Provider;

const SETTINGS: ChatSettings = {
  provider: 'claude',
  model: null,
  effort: null,
  mode: 'code',
  permission: 'ask',
  effective_permission: 'ask',
};

const ALL: ILimits = { permission: 'full', modes: null, models: null };

const brief = (options: { label: string; disabled?: boolean }[]) =>
  options.map(({ label, disabled }) => (disabled ? `(${label})` : label));

describe('agents', () => {
  it('greys one that cannot be used and says why', () => {
    const codex = { ...PROVIDER, id: 'codex', available: false, reason: 'Not signed in.' };
    const [, second] = agentOptions([PROVIDER, codex], english);
    expect(second).toMatchObject({ disabled: true, note: 'Not signed in.' });
  });
});

describe('models and efforts', () => {
  it('offers efforts only for a model that has some', () => {
    const labels = (model: string | null) =>
      brief(effortOptions(modelOf(PROVIDER, model), english));
    expect(labels(null)).toEqual(['Default effort', 'Low effort', 'High effort']);
    expect(labels('haiku')).toEqual([]);
  });

  it('keeps a model that the agent does not list', () => {
    expect(brief(modelOptions(PROVIDER, 'opus-next', ALL, english))).toEqual([
      'Sonnet',
      'Haiku',
      'opus-next',
    ]);
  });

  it('has a choice also before the agent has told its models', () => {
    expect(brief(modelOptions(undefined, null, ALL, english))).toEqual(['Default model']);
  });
});

describe('modes and permissions', () => {
  it('lists what the agent has, from the strictest on, with its own notes', () => {
    expect(brief(modeOptions(PROVIDER, ALL, english))).toEqual(['Plan', 'Code']);
    const options = permissionOptions(PROVIDER, 'code', ALL, english);
    expect(brief(options)).toEqual(['Read only', 'Ask first', 'Full access']);
    expect(options[1]?.note).toBe('Edits in git are not asked.');
  });

  it('greys what the mode or the administrator does not allow', () => {
    expect(brief(permissionOptions(PROVIDER, 'plan', ALL, english))).toEqual([
      'Read only',
      '(Ask first)',
      '(Full access)',
    ]);
    const limited = permissionOptions(PROVIDER, 'code', { ...ALL, permission: 'ask' }, english);
    expect(brief(limited)).toEqual(['Read only', 'Ask first', '(Full access)']);
    expect(limited[2]?.note).toContain('administrator');
    expect(brief(modeOptions(PROVIDER, { ...ALL, modes: ['code'] }, english))).toEqual([
      '(Plan)',
      'Code',
    ]);
    expect(brief(modelOptions(PROVIDER, null, { ...ALL, models: ['haiku'] }, english))).toEqual([
      '(Sonnet)',
      'Haiku',
    ]);
  });

  it('takes the stricter of mode and permission', () => {
    expect(effectivePermission('plan', 'full')).toBe('read_only');
    expect(effectivePermission('chat', 'full')).toBe('ask');
    expect(effectivePermission('code', 'accept_edits')).toBe('accept_edits');
    expect(effectivePermission('full_auto', 'ask')).toBe('full');
  });

  it('asks before an agent may work without asking, and only then', () => {
    expect(raisesToFull(SETTINGS, { permission: 'full' })).toBe(true);
    expect(raisesToFull(SETTINGS, { mode: 'full_auto' })).toBe(true);
    expect(raisesToFull(SETTINGS, { permission: 'accept_edits' })).toBe(false);
    const full: ChatSettings = { ...SETTINGS, permission: 'full', effective_permission: 'full' };
    expect(raisesToFull(full, { model: 'haiku' })).toBe(false);
    const planned: ChatSettings = { ...full, mode: 'plan', effective_permission: 'read_only' };
    expect(raisesToFull(planned, { mode: 'code' })).toBe(true);
  });
});
