/** The message of a chat that does not exist yet: kept over a reload, in this browser only. */
import { Value } from './readable';

const KEY = 'agentchat:new-draft';

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return ''; // storage is switched off: the text lives as long as the page
  }
}

export class NewDraft extends Value<string> {
  constructor() {
    super(stored());
  }

  override set(text: string): void {
    super.set(text);
    try {
      if (text) {
        localStorage.setItem(KEY, text);
      } else {
        localStorage.removeItem(KEY);
      }
    } catch {
      // as above
    }
  }
}
