/** The message of a chat that does not exist yet: kept over a reload, in this browser only. */
import { Value } from '../state/value';
import { browserStorage, readText, writeText } from './draftMirror';

const KEY = 'agentchat:new-draft';

export class NewDraft extends Value<string> {
  constructor() {
    super(readText(browserStorage(), KEY));
  }

  override set(text: string): void {
    super.set(text);
    writeText(browserStorage(), KEY, text);
  }
}
