import { Term } from '../../ui/words/term.tsx'
import type { Asked } from './asked.ts'

interface ChoiceProps {
  asked: Asked
  change: (part: Partial<Asked>) => void
}

const MODES: [Asked['mode'], string, string][] = [
  ['generate', 'Change', 'writes code for what you ask, and plans it'],
  ['drift', 'Drift', 'finds what differs from the cloud'],
  ['import', 'Import', 'takes what exists already into the code'],
]

/** Which kind of round: what it does, and whether it only looks. */
export function ModeChoice({ asked, change }: ChoiceProps) {
  return (
    <div class="rounds-modes small">
      <fieldset>
        <legend class="unseen">Kind of round</legend>
        {MODES.map(([mode, name, meaning]) => (
          <label key={mode} class="rounds-choice">
            <input
              type="radio"
              name="ask-mode"
              value={mode}
              checked={asked.mode === mode}
              onChange={() => change({ mode })}
            />
            <span>
              <b>{name}</b> <span class="quiet">{meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {asked.mode !== 'generate' && <Further asked={asked} change={change} />}
    </div>
  )
}

function Further({ asked, change }: ChoiceProps) {
  const listsAll = asked.mode === 'import' && asked.preview
  return (
    <fieldset>
      <legend class="unseen">How far it goes</legend>
      <label class="rounds-choice">
        <input
          type="checkbox"
          checked={asked.preview}
          onChange={({ currentTarget }) => change({ preview: currentTarget.checked })}
        />
        <span>
          <b>Only look</b> <span class="quiet">nothing is changed, and the sealed plan stays</span>
        </span>
      </label>
      {listsAll ? (
        <p class="quiet">
          It lists the whole <Term name="scope">scope</Term>, whatever the text says.
        </p>
      ) : (
        <label class="rounds-choice">
          <input
            type="checkbox"
            checked={asked.is_partial}
            onChange={({ currentTarget }) => change({ is_partial: currentTarget.checked })}
          />
          <span>
            <b>Only what the text names</b> <span class="quiet">otherwise everything in the folder</span>
          </span>
        </label>
      )}
    </fieldset>
  )
}
