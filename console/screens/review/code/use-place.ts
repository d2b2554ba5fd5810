import { useNavigate, useSearch } from '@tanstack/react-router'

/** The place in the code that the address names: `?part=code&file=main.tf&line=12&attempt=2`. */
export function usePlace() {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const file = typeof search.file === 'string' ? search.file : null
  const number = (value: unknown) => (Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : null)
  const go = (place: { file?: string; line?: number; attempt?: number }) =>
    void navigate({
      to: '.',
      search: ((before: Record<string, unknown>) => ({
        ...before,
        file: undefined,
        line: undefined,
        ...place,
      })) as never,
      replace: true,
      resetScroll: false,
    })
  const href = (name: string, line?: number) => {
    const query = new URLSearchParams({ part: 'code', file: name })
    if (search.round !== undefined) query.set('round', String(search.round))
    if (line !== undefined) query.set('line', String(line))
    return `?${query}`
  }
  return { file, line: number(search.line), attempt: number(search.attempt), go, href }
}
