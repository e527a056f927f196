/** Icons: `Icon` for components; the `LabIcon`s live in `labIcons.ts`, which imports JupyterLab. */
export { Icon, type IIconProps, type IconName } from './Icon';
