/** Paths as agents write them, as the contents API names them. */
import { PathExt } from '@jupyterlab/coreutils';

/**
 * `path` below the server root: relative ones lie in the chat's project.
 *
 * Null when it lies elsewhere, or climbs out: JupyterLab cannot open it.
 */
export function contentsPath(project: string | null, path: string, root: string): string | null {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  if (path.startsWith('/') && !path.startsWith(prefix)) {
    return null;
  }
  const below = path.startsWith('/')
    ? PathExt.normalize(path.slice(prefix.length))
    : PathExt.normalize(PathExt.join(project ?? '', path));
  return below === '..' || below.startsWith('../') ? null : below;
}
