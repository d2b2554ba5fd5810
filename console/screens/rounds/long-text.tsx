import { useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { formatNumber, shorten, visibleText } from '../../ui/words.ts'

const SHORT = 1_200
/** More than a page can lay out without a pause. */
const LONGEST = 20_000

/** A text of others with its line breaks. A long one is folded, and one that is longer than any reader is cut. */
export function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false)
  const isLong = text.length > SHORT
  return (
    <>
      <p class="rounds-text" dir="auto">
        {visibleText(shorten(text, all ? LONGEST : SHORT))}
      </p>
      {isLong && !all && (
        <Button small kind="quiet" onClick={() => setAll(true)}>
          Show all {formatNumber(text.length)} characters
        </Button>
      )}
      {all && text.length > LONGEST && <p class="small quiet">The rest of the text is not shown.</p>}
    </>
  )
}
