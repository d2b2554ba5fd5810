import { diffLines, diffWords, likeness, type Piece } from './text-diff.ts'
import { type Shown, type Sides, showSide } from './values.ts'

/** Shows one side of a change. */
export const Side = ({ sides, side }: { sides: Sides; side: 'before' | 'after' }) => (
  <Value shown={showSide(sides, side)} />
)

function Value({ shown: { kind, text, is_block } }: { shown: Shown }) {
  if (kind === 'note') return <span class="plan-note">{text}</span>
  if (!is_block) return <span class="mono">{text}</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard
    <pre class="plan-block" tabIndex={0}>
      {text}
    </pre>
  )
}

/** The minimum share in common for marks inside two texts. */
const ALIKE = 0.35

/** Shows both sides, with changes marked, or as one column of lines when both are long. */
export function Change({ sides }: { sides: Sides }) {
  const before = showSide(sides, 'before')
  const after = showSide(sides, 'after')
  if (before.kind === 'text' && after.kind === 'text') {
    if (before.text === after.text)
      return (
        <td colSpan={2}>
          <Value shown={after} /> <span class="plan-note">same meaning, different notation</span>
        </td>
      )
    if (before.text.includes('\n') || after.text.includes('\n'))
      return (
        <td colSpan={2}>
          <Lines pieces={diffLines(before.text, after.text)} />
        </td>
      )
    const pieces = diffWords(before.text, after.text)
    if (typeof sides.after === 'string' && likeness(pieces) >= ALIKE) return <Words pieces={pieces} />
  }
  return (
    <>
      <td data-label="Now">
        <Value shown={before} />
      </td>
      <td data-label="After">
        <Value shown={after} />
      </td>
    </>
  )
}

/** Shows single-line texts side by side, with differing words marked. */
const Words = ({ pieces }: { pieces: Piece[] }) => (
  <>
    <td data-label="Now">
      <span class="mono">
        {pieces.map(({ kind, text }, index) =>
          kind === 'added' ? null : kind === 'removed' ? <del key={index}>{text}</del> : text,
        )}
      </span>
    </td>
    <td data-label="After">
      <span class="mono">
        {pieces.map(({ kind, text }, index) =>
          kind === 'removed' ? null : kind === 'added' ? <ins key={index}>{text}</ins> : text,
        )}
      </span>
    </td>
  </>
)

const SIGNS = { same: ' ', removed: '−', added: '+' } as const

const Lines = ({ pieces }: { pieces: Piece[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard
  <pre class="plan-block" tabIndex={0}>
    {pieces.map(({ kind, text }, index) => {
      const lines = text
        .split('\n')
        .map((line) => `${SIGNS[kind]} ${line}\n`)
        .join('')
      if (kind === 'removed') return <del key={index}>{lines}</del>
      if (kind === 'added') return <ins key={index}>{lines}</ins>
      return <span key={index}>{lines}</span>
    })}
  </pre>
)
