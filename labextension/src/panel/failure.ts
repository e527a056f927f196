/** What was thrown, for people. */
import { ApiError } from '../client/errors';
import type { Failure } from '../state/stores';

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) {
    const { code, message, details } = error;
    return { code, message, details };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'network', message, details: {} };
}
