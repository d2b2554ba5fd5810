/** Returns the names of the modules in `screens` that draw an address of the console, as `routes.tsx` does. */
export function screensAt(pathname: string): string[] {
  const [first = '', second = '', third = ''] = pathname.replace(/^\/console\/?/, '').split('/')
  if (first === 'sessions' && second) return ['session', third || 'rounds']
  if (first === 'admin') return [second || 'overview']
  return [first || 'start']
}

/** Preloads the scripts of the first screen (`scripts`, by screen) and of every page before the router needs them. */
export function loadAhead(scripts: Record<string, string[]>, { head } = document, { pathname } = location): void {
  for (const name of screensAt(pathname))
    for (const href of Object.hasOwn(scripts, name) ? (scripts[name] ?? []) : [])
      head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
}
