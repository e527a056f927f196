/** Makes a textarea as high as its text, or as its placeholder; its `max-height` in CSS limits it. */
import { useLayoutEffect, useRef } from 'react';

export function useAutoGrow(
  text: string,
  placeholder?: string,
): React.RefObject<HTMLTextAreaElement> {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const node = area.current;
    if (node) {
      node.style.height = 'auto';
      node.style.height = `${node.scrollHeight}px`;
    }
  }, [text, placeholder]);
  return area;
}
