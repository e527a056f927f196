/** What the pickers offer: made from the chat's settings and what its agent can do; pure. */
import type { Chat, Model, Provider } from '../../protocol/generated';
import type { Trans } from '../common/trans';
import type { IPickerOption } from './pickerKeys';
import { effortWords, modeWords, permissionWords } from './words';

type Mode = Chat['mode'];
type Permission = Chat['permission'];

/** The settings of a chat, or of one that does not exist yet. */
export type ChatSettings = Pick<
  Chat,
  'provider' | 'model' | 'effort' | 'mode' | 'permission' | 'effective_permission'
>;

export type SettingsChange = Partial<Omit<ChatSettings, 'effective_permission'>>;

export const MODES: readonly Mode[] = ['chat', 'plan', 'code', 'review', 'debug', 'full_auto'];

/** From the strictest to the widest. */
export const PERMISSIONS: readonly Permission[] = ['read_only', 'ask', 'accept_edits', 'full'];

/** What the administrator allows; null where everything is allowed. */
export interface ILimits {
  permission: Permission;
  modes: readonly Mode[] | null;
  models: readonly string[] | null;
}

/** The value that means "let the agent choose". */
export const AGENTS_CHOICE = '';

const TOP: Readonly<Record<Mode, Permission>> = {
  chat: 'ask',
  plan: 'read_only',
  code: 'full',
  review: 'ask',
  debug: 'full',
  full_auto: 'full',
};

/** The stricter of what was chosen and what the mode allows; the server's word counts where there is one. */
export function effectivePermission(mode: Mode, permission: Permission): Permission {
  if (mode === 'full_auto') {
    return 'full';
  }
  const strict = Math.min(PERMISSIONS.indexOf(permission), PERMISSIONS.indexOf(TOP[mode]));
  return PERMISSIONS[strict] ?? 'ask';
}

/** True when the agent would no longer ask: such a change is confirmed first. */
export function raisesToFull(settings: ChatSettings, change: SettingsChange): boolean {
  const mode = change.mode ?? settings.mode;
  const permission = change.permission ?? settings.permission;
  return (
    settings.effective_permission !== 'full' && effectivePermission(mode, permission) === 'full'
  );
}

/** A copy with the change made. */
export function changed(settings: ChatSettings, change: SettingsChange): ChatSettings {
  const next = { ...settings, ...change };
  return { ...next, effective_permission: effectivePermission(next.mode, next.permission) };
}

/** Agents; those that cannot be used are greyed and say why. */
export function agentOptions(providers: readonly Provider[], trans: Trans): IPickerOption[] {
  return providers.map(provider => ({
    value: provider.id,
    label: provider.name,
    note: provider.available
      ? provider.description
      : (provider.reason ?? trans.__('Not available')),
    disabled: !provider.available,
  }));
}

function notAllowed(trans: Trans): string {
  return trans.__('Not allowed by the administrator of this server.');
}

export function modelOf(provider: Provider | undefined, model: string | null): Model | undefined {
  const models = provider?.models ?? [];
  return models.find(known => (model ? known.id === model : known.default));
}

export function modelOptions(
  provider: Provider | undefined,
  model: string | null,
  limits: ILimits,
  trans: Trans,
): IPickerOption[] {
  const models = provider?.models ?? [];
  const options: IPickerOption[] = models.map(({ id, name }) =>
    limits.models?.includes(id) === false
      ? { value: id, label: name, note: notAllowed(trans), disabled: true }
      : { value: id, label: name },
  );
  if (!models.some(known => known.default)) {
    options.unshift({ value: AGENTS_CHOICE, label: trans.__('Default model') });
  }
  if (model && !models.some(known => known.id === model)) {
    options.push({ value: model, label: model });
  }
  return options;
}

export function effortOptions(model: Model | undefined, trans: Trans): IPickerOption[] {
  const efforts = model?.efforts ?? [];
  return efforts.length === 0
    ? []
    : [
        { value: AGENTS_CHOICE, label: trans.__('Default effort') },
        ...efforts.map(effort => ({ value: effort, label: effortWords(effort, trans) })),
      ];
}

export function modeOptions(
  provider: Provider | undefined,
  limits: ILimits,
  trans: Trans,
): IPickerOption[] {
  const offered = provider?.modes.length ? provider.modes : MODES;
  return MODES.filter(mode => offered.includes(mode)).map(mode => {
    const { label, note } = modeWords(mode, trans);
    return limits.modes?.includes(mode) === false
      ? { value: mode, label, note: notAllowed(trans), disabled: true }
      : { value: mode, label, note };
  });
}

/** Permissions with what they mean for this agent; those above the limit or the mode are greyed. */
export function permissionOptions(
  provider: Provider | undefined,
  mode: Mode,
  limits: ILimits,
  trans: Trans,
): IPickerOption[] {
  const offered = provider?.permissions.length ? provider.permissions : PERMISSIONS;
  return PERMISSIONS.filter(permission => offered.includes(permission)).map(permission => {
    const { label, note } = permissionWords(permission, trans);
    const rank = PERMISSIONS.indexOf(permission);
    if (rank > PERMISSIONS.indexOf(limits.permission)) {
      return { value: permission, label, note: notAllowed(trans), disabled: true };
    }
    if (rank > PERMISSIONS.indexOf(TOP[mode])) {
      const reason = trans.__('Not in the mode %1.', modeWords(mode, trans).label);
      return { value: permission, label, note: reason, disabled: true };
    }
    return { value: permission, label, note: provider?.permission_notes[permission] ?? note };
  });
}
