/** Copies a text and says for a moment that it did. */
import { useEffect, useState } from 'react';

import { IconButton } from './Button';
import { useServices } from './services';
import { useTrans } from './trans';

/** How long "Copied" stands, ms. */
export const COPIED_MS = 1500;

export interface ICopyButtonProps {
  /** The button's name. */
  label: string;
  /** What to copy; made when it is needed. */
  text: () => string;
}

export function CopyButton({ label, text }: ICopyButtonProps): React.JSX.Element {
  const trans = useTrans();
  const { copyText } = useServices();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    const timer = copied ? setTimeout(() => setCopied(false), COPIED_MS) : undefined;
    return () => {
      clearTimeout(timer);
    };
  }, [copied]);
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? trans.__('Copied') : label}
      onClick={() => {
        copyText(text());
        setCopied(true);
      }}
    />
  );
}
