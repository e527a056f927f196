/** What a call threw, as a fact that people can be told. */
import { ApiError } from '../client/errors';
import type { Failure } from './stores';

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) {
    return { code: error.code, message: error.message, details: error.details };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'network', message, details: {} };
}
