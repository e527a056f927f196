/** What the server's status means for the interface; tolerant, since policies grow. */
import { PageConfig } from '@jupyterlab/coreutils';

import type { Status } from '../client/answers';
import { MODES, PERMISSIONS, type ILimits } from '../components/composer/settings';

function strings(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : null;
}

/** The administrator's limits; none where none are told. */
export function limitsOf(status: Status | null): ILimits {
  const policies = status?.policies ?? {};
  const modes = strings(policies.allowed_modes);
  return {
    permission: PERMISSIONS.find(known => known === policies.max_permission) ?? 'full',
    modes: modes && MODES.filter(mode => modes.includes(mode)),
    models: strings(policies.allowed_models),
  };
}

/** Last part of the server's root: what people call the folder that they work in. The page knows it before us. */
export function rootName(status: Status | null): string {
  const root = status?.server_root ?? PageConfig.getOption('serverRoot');
  return root.split('/').filter(Boolean).at(-1) ?? '';
}

/** What to call a chat's folder; null for a chat without a project. */
export function folderName(project: string | null, status: Status | null): string | null {
  if (project === null) {
    return null;
  }
  return [project, rootName(status)].find(Boolean) ?? '/';
}

/** What is wrong with the store, for people; null when all is well. */
export function storeNotice(status: Status | null): string | null {
  return status?.store?.notice ?? null;
}
