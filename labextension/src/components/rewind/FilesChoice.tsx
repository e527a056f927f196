/** The files of a rewind: as they were, or as they are; one by one where a person has changed them since. */
import { useId } from 'react';

import type { FileKept, RewindRequest, RewindResult } from '../../protocol/generated';
import { formatTime } from '../common/format';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { LineCounts } from '../tools/LineCounts';
import { changeWords } from './rewindWords';

export interface IFilesChoiceProps {
  preview: RewindResult;
  /** ISO time of the prompt. */
  time: string;
  files: RewindRequest['files'];
  /** Paths that may be put back although they were changed since. */
  overwrite: ReadonlySet<string>;
  onFiles: (files: RewindRequest['files']) => void;
  onOverwrite: (overwrite: ReadonlySet<string>) => void;
}

export function FilesChoice(props: IFilesChoiceProps): React.JSX.Element {
  const { preview, time, files, overwrite, onFiles, onOverwrite } = props;
  const trans = useTrans();
  const name = useId();
  const { files: restored, kept } = preview;
  if (restored.length === 0 && kept.length === 0) {
    return (
      <p className="ac-dialog-line">
        <Icon name="file" />
        <span>{trans.__('No files were changed since this prompt.')}</span>
      </p>
    );
  }
  const toggle = (path: string) => {
    const next = new Set(overwrite);
    if (!next.delete(path)) {
      next.add(path);
    }
    onOverwrite(next);
  };
  const radio = (value: RewindRequest['files'], words: string) => (
    <label className="ac-dialog-option">
      <input type="radio" name={name} checked={files === value} onChange={() => onFiles(value)} />
      <span>{words}</span>
    </label>
  );
  return (
    <fieldset className="ac-dialog-choice">
      <legend className="ac-sr">{trans.__('Files')}</legend>
      {radio('restore', trans.__('Restore the files as they were at %1', formatTime(time)))}
      <ul
        className="ac-plain ac-dialog-files"
        aria-label={trans.__('Changed files')}
        data-off={files === 'keep'}
      >
        {restored.map(({ path, change, added, removed }) => (
          <li key={path}>
            <Icon name="check" />
            <FileWords path={path} words={changeWords(change, trans)} />
            {added === null || removed === null ? null : (
              <span className="ac-dialog-counts ac-num">
                <LineCounts added={added} removed={removed} />
              </span>
            )}
          </li>
        ))}
        {kept.map(file => (
          <li key={file.path}>
            <Kept
              file={file}
              checked={overwrite.has(file.path)}
              disabled={files === 'keep'}
              onToggle={() => toggle(file.path)}
            />
          </li>
        ))}
      </ul>
      {radio('keep', trans.__('Keep the files as they are now'))}
    </fieldset>
  );
}

function FileWords({ path, words }: { path: string; words: string }): React.JSX.Element {
  return (
    <span className="ac-dialog-file">
      <span className="ac-mono">
        <VisibleText text={path} />
      </span>{' '}
      <span className="ac-quiet">
        <VisibleText text={words} />
      </span>
    </span>
  );
}

interface IKeptProps {
  file: FileKept;
  checked: boolean;
  disabled: boolean;
  onToggle: () => void;
}

function Kept({ file, checked, disabled, onToggle }: IKeptProps): React.JSX.Element {
  const trans = useTrans();
  const { path, reason, overwritable } = file;
  if (!overwritable) {
    return (
      <>
        <Icon name="denied" />
        <FileWords path={path} words={trans.__('Kept: %1', reason)} />
      </>
    );
  }
  return (
    <label className="ac-dialog-option">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={onToggle} />
      <FileWords
        path={path}
        words={checked ? trans.__('Restored over: %1', reason) : trans.__('Kept: %1', reason)}
      />
    </label>
  );
}
