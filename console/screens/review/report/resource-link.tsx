import { Link } from '@tanstack/react-router'
import { shorten, visibleText } from '../../../ui/words/text.ts'

/** The link to a resource in the plan of the same round. */
export const ResourceLink = ({ address }: { address: string }) => (
  <Link
    to={'.' as never}
    search={((before: Record<string, unknown>) => ({ round: before.round, part: 'plan', resource: address })) as never}
    class="mono report-link"
  >
    {shorten(visibleText(address), 300)}
  </Link>
)

/** The link to a line of the code of the same round. */
export const LineLink = ({ file, line }: { file: string; line: number | null }) => (
  <Link
    to={'.' as never}
    search={
      ((before: Record<string, unknown>) => ({
        round: before.round,
        part: 'code',
        file,
        ...(line !== null && { line }),
      })) as never
    }
    class="mono report-link"
  >
    {visibleText(line === null ? file : `${file}:${line}`)}
  </Link>
)
