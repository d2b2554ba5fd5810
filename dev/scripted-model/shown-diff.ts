const HEAD = /^--- (.+) \((new file, whole|changed|renamed|deleted)\) ---$/

/**
 * A diff as a query shows it, in the form that `changedLines` reads: headers of files, and signs also before the lines
 * of new files. Empty when the session has changed nothing.
 */
export function shownDiff(shown: string | undefined): string {
  let isNew = false
  return (shown ?? '')
    .split('\n')
    .flatMap((line) => {
      const [, path, kind] = HEAD.exec(line) ?? []
      if (path === undefined) return [isNew ? `+${line}` : line]
      isNew = kind === 'new file, whole'
      return ['diff', `+++ ${path}`]
    })
    .join('\n')
}
