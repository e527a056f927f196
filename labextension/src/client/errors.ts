/** How a call to the server can fail: refused with the wire's code, or no answer at all. */
import type { ErrorBody } from '../protocol/generated';

export type Code = ErrorBody['code'];

/** The server refused and changed nothing. `status` is HTTP's, 0 when the refusal came over the socket. */
export class ApiError extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    readonly status = 0,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** No answer: the call may or may not have had its effect. Retry with the same `client_id`, or look again. */
export class NoAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoAnswer';
  }
}

const CODES: Readonly<Record<number, Code>> = {
  400: 'bad_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'busy',
  410: 'gone',
  413: 'too_large',
  422: 'unsupported',
  429: 'rate_limited',
  507: 'storage',
};

/** The refusal in a response that is not 2xx; a body that is not ours (a proxy's page) gives the code by status. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const error = errorOf(await response.json().catch(() => null));
  const code = (error?.code ?? CODES[status] ?? 'internal') as Code;
  const fallback = `The server answered ${status} ${response.statusText}`.trim();
  const message = typeof error?.message === 'string' ? error.message : fallback;
  const details = error?.details;
  return new ApiError(code, message, isRecord(details) ? details : {}, status);
}

function errorOf(body: unknown): Record<string, unknown> | null {
  const error = isRecord(body) ? body.error : null;
  return isRecord(error) ? error : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
