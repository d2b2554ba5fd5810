import type { PlannedResource } from '../../client/api/types.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'

const LONGEST = 300

/** The address as text that may be shown, and what tells a left-over object from the one that has its address. */
export const shownAddress = ({ address, deposed }: PlannedResource): string =>
  shorten(visibleText(address), LONGEST) +
  (deposed === null ? '' : ` (left over, ${shorten(visibleText(deposed), 20)})`)

/** Name and instance, for boxes in which the type stands beside it. */
export const shownName = ({ name, index }: PlannedResource): string =>
  shorten(visibleText(index === null ? name : `${name}[${typeof index === 'string' ? `"${index}"` : index}]`), 80)
