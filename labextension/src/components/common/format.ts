/** Numbers as people read them. Pure; the words around them are translated where they are used. */

/** `ms` as "0.1 s", "18 s", "1 m 52 s" or "1 h 3 m"; one decimal below ten seconds. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) {
    return `${seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  if (whole < 60) {
    return `${whole} s`;
  }
  if (whole < 3600) {
    return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  }
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
}

/** `ms` as a running clock: "0:42", "12:05", "1:02:03". */
export function formatClock(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1000));
  const pad = (n: number): string => String(n).padStart(2, '0');
  const [hours, minutes, seconds] = [
    Math.floor(whole / 3600),
    Math.floor((whole % 3600) / 60),
    whole % 60,
  ];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds)}` : `${minutes}:${pad(seconds)}`;
}

/** A count of tokens as "310", "48.2k" or "1.2M". */
export function formatTokens(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** US dollars as "$0.21"; what is not nothing is never shown as $0.00. */
export function formatCost(usd: number): string {
  return usd > 0 && usd < 0.005 ? '< $0.01' : `$${usd.toFixed(2)}`;
}

/** `bytes` as "310 B", "4 kB" or "1.2 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) {
    return `${bytes} B`;
  }
  return bytes < 999_500
    ? `${Math.round(bytes / 1000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The time of day of an ISO time in the reader's own zone; with the date when it is another day than `now`. */
export function formatTime(iso: string, now: Date = new Date()): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) {
    return '';
  }
  const clock = time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return time.toDateString() === now.toDateString()
    ? clock
    : `${time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })}, ${clock}`;
}
