/** Below the composer: agent, model, effort, mode and permission; narrow panels keep three and fold the rest. */
import { useId, useState } from 'react';

import type { Chat, Provider } from '../../protocol/generated';
import { IconButton } from '../common/Button';
import { useTrans, type Trans } from '../common/trans';
import type { IconName } from '../icons';
import { Picker, type IPickerOption } from './Picker';
import {
  AGENTS_CHOICE,
  agentOptions,
  effortOptions,
  modelOf,
  modelOptions,
  modeOptions,
  permissionOptions,
  type ChatSettings,
  type ILimits,
  type SettingsChange,
} from './settings';

export interface ISettingsBarProps {
  settings: ChatSettings;
  providers: readonly Provider[];
  limits: ILimits;
  onChange: (change: SettingsChange) => void;
}

interface IPickerSpec {
  name: string;
  icon: IconName | undefined;
  value: string;
  placeholder: string;
  options: IPickerOption[];
  change: (value: string) => SettingsChange;
  /** Kept in narrow panels. */
  main: boolean;
}

export function SettingsBar(props: ISettingsBarProps): React.JSX.Element {
  const trans = useTrans();
  const id = useId();
  const [more, setMore] = useState(false);
  const specs = pickersOf(props, trans).filter(spec => spec.options.length > 0);
  const draw = (spec: IPickerSpec) => (
    <Picker
      key={spec.name}
      name={spec.name}
      icon={spec.icon}
      value={spec.value}
      placeholder={spec.placeholder}
      options={spec.options}
      onChange={value => props.onChange(spec.change(value))}
    />
  );
  const rest = specs.filter(spec => !spec.main);
  return (
    <div className="ac-settings">
      <div className="ac-settings-row">
        {specs.map(spec =>
          spec.main ? (
            draw(spec)
          ) : (
            <span key={spec.name} className="ac-wide-only">
              {draw(spec)}
            </span>
          ),
        )}
        <IconButton
          icon="sliders"
          label={trans.__('More settings')}
          className="ac-narrow-only"
          aria-expanded={more}
          aria-controls={id}
          onClick={() => setMore(!more)}
        />
      </div>
      <div
        id={id}
        hidden={!more}
        role="group"
        aria-label={trans.__('More settings')}
        className="ac-settings-row ac-settings-more ac-narrow-only"
      >
        {more && rest.map(draw)}
      </div>
    </div>
  );
}

function pickersOf({ settings, providers, limits }: ISettingsBarProps, trans: Trans) {
  const provider = providers.find(known => known.id === settings.provider);
  const model = modelOf(provider, settings.model);
  const specs: IPickerSpec[] = [
    {
      name: trans.__('Agent'),
      icon: undefined,
      value: settings.provider ?? '',
      placeholder: settings.provider ?? trans.__('Choose an agent'),
      options: agentOptions(providers, trans),
      // the other agent has models and efforts of its own
      change: value => ({ provider: value, model: null, effort: null }),
      main: false,
    },
    {
      name: trans.__('Model'),
      icon: undefined,
      value: settings.model ?? model?.id ?? AGENTS_CHOICE,
      placeholder: settings.model ?? trans.__('Default model'),
      options: modelOptions(provider, settings.model, limits, trans),
      change: value => ({ model: value === AGENTS_CHOICE ? null : value }),
      main: true,
    },
    {
      name: trans.__('Effort'),
      icon: 'gauge',
      value: settings.effort ?? AGENTS_CHOICE,
      placeholder: trans.__('Default effort'),
      options: effortOptions(model, trans),
      change: value => ({ effort: value === AGENTS_CHOICE ? null : value }),
      main: false,
    },
    {
      name: trans.__('Mode'),
      icon: 'edit',
      value: settings.mode,
      placeholder: settings.mode,
      options: modeOptions(provider, limits, trans),
      change: value => ({ mode: value as Chat['mode'] }),
      main: true,
    },
    {
      name: trans.__('Permission'),
      icon: 'shield',
      value: settings.effective_permission,
      placeholder: settings.effective_permission,
      options: permissionOptions(provider, settings.mode, limits, trans),
      change: value => ({ permission: value as Chat['permission'] }),
      main: true,
    },
  ];
  return specs;
}
