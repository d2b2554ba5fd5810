import type { Round } from '../client/api/types.ts'
import { shorten, visibleText } from './words/text.ts'

interface RoundPickerProps {
  rounds: readonly Round[]
  selected: number
  onSelect: (number: number) => void
}

/** Chooses one of several rounds; nothing where there is only one. */
export function RoundPicker({ rounds, selected, onSelect }: RoundPickerProps) {
  if (rounds.length < 2) return null
  return (
    <label class="round-picker">
      <span class="small quiet">Round</span>
      <select value={selected} onChange={({ currentTarget }) => onSelect(Number(currentTarget.value))}>
        {rounds.map(({ number, query, preview }) => (
          <option key={number} value={number}>
            {`${number} · ${preview ? 'Look · ' : ''}${shorten(visibleText(query), 50)}`}
          </option>
        ))}
      </select>
    </label>
  )
}
