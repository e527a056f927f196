/** Which key sends and which writes a new line; pure. */

/** `enter`: Enter sends, Shift+Enter breaks the line. `ctrl_enter`: Ctrl or Cmd with Enter sends, Enter breaks. */
export type SendKey = 'enter' | 'ctrl_enter';

export interface IComposerKey {
  key: string;
  keyCode: number;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing: boolean;
}

/** Safari ends a composition before the key event that confirmed it; that key is 229 then. */
const IN_COMPOSITION = 229;

export function isSendKey(press: IComposerKey, sendKey: SendKey): boolean {
  if (press.key !== 'Enter' || press.isComposing || press.keyCode === IN_COMPOSITION) {
    return false;
  }
  if (press.shiftKey || press.altKey) {
    return false;
  }
  // the chord sends in both settings: who is used to it does not get a new line
  return press.ctrlKey || press.metaKey || sendKey === 'enter';
}
