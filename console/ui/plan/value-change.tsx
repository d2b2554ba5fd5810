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
    {(['removed', 'added'] as const).map((side) => (
      <td key={side} data-label={side === 'removed' ? 'Now' : 'After'}>
        <span class="mono">
          {pieces.map(
            (piece, index) => (piece.kind === side || piece.kind === 'same') && <Part key={index} {...piece} />,
          )}
        </span>
      </td>
    ))}
  </>
)

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const

function Part({ kind, text }: Piece) {
  const Tag = TAGS[kind]
  return <Tag>{text}</Tag>
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const

const Lines = ({ pieces }: { pieces: Piece[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard
  <pre class="plan-block" tabIndex={0}>
    {pieces.map(({ kind, text }, index) => (
      <Part key={index} kind={kind} text={`${SIGNS[kind]} ${text.replaceAll('\n', `\n${SIGNS[kind]} `)}\n`} />
    ))}
  </pre>
)
