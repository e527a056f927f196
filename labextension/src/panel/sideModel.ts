/** What the side panel shows; kept outside of React, since panels are unmounted. */
import type { NewDraft } from './newDraft';
import type { Value } from '../state/value';

export interface ISideModel {
  /** The chat that is open, null for the list. */
  readonly openId: Value<string | null>;
  /** The chat of the main area that was in front last, as long as its tab is open. */
  readonly tabId: Value<string | null>;
  /** The chat whose title is being edited in the list. */
  readonly renamingId: Value<string | null>;
  /** Somebody asked to search: the search box takes the focus. */
  readonly searchWanted: Value<boolean>;
  /** What was deleted is shown instead of the list. */
  readonly trashOpen: Value<boolean>;
  readonly draft: NewDraft;
}

export interface ISideProps {
  model: ISideModel;
  focusRequests: Value<number>;
}
