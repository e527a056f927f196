/** What the server's status means for the interface; tolerant, since policies grow. */
import type { Status } from '../client/answers';
import { PERMISSIONS } from '../components/composer/settings';
import type { Chat } from '../protocol/generated';

/** The administrator's limit; `full` where none is told. */
export function highestPermission(status: Status | null): Chat['permission'] {
  const told = status?.policies.max_permission;
  return PERMISSIONS.find(permission => permission === told) ?? 'full';
}

/** Last part of the server's root: what people call the folder that they work in. */
export function rootName(status: Status | null): string {
  return status?.server_root.split('/').filter(Boolean).at(-1) ?? '';
}

/** What to call a chat's folder; null for a chat without a project. */
export function folderName(project: string | null, status: Status | null): string | null {
  return project === null ? null : project === '' ? rootName(status) || '/' : project;
}

/** Why nothing can be stored now, for people; null when all is well. */
export function readOnlyNotice(status: Status | null): string | null {
  const told = status?.policies.read_only_reason;
  return typeof told === 'string' && told !== '' ? told : null;
}
