/** First prompts for a chat without any message. */
import { useEffect, useMemo, useState } from 'react';

import { useTrans } from '../components/common/trans';
import { TOUR } from '../components/start/StartState';
import { suggestionsFor, type IFolderEntry } from '../components/start/folderPrompts';
import { usePanel } from './context';

/** Made from what is in the folder once that is known; none while `wanted` is false. */
export function useSuggestions(
  wanted: boolean,
  project: string | null,
  provider: string | null,
): readonly string[] {
  const { host } = usePanel();
  const trans = useTrans();
  const [entries, setEntries] = useState<readonly IFolderEntry[] | null>(null);
  useEffect(() => {
    let current = true;
    if (wanted && project !== null) {
      void host.listFolder(project).then(found => current && setEntries(found));
    }
    return () => {
      current = false;
    };
  }, [host, project, wanted]);
  return useMemo(() => {
    if (!wanted) {
      return [];
    }
    if (provider === TOUR) {
      return [trans.__('Show me around')];
    }
    return entries === null || project === null ? [] : suggestionsFor(entries, trans);
  }, [entries, project, provider, trans, wanted]);
}
