import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import { useMe } from '../../client/platform.ts'
import { Term } from '../../ui/kit.tsx'
import { MODES, type Mode, type ModeName } from './modes.ts'

interface ModeCardsProps {
  chosen: ModeName
  choose: (mode: ModeName) => void
}

/** Shows the modes in three columns. */
export function ModeCards(props: ModeCardsProps) {
  const me = useMe()
  const mayDrift = me.data?.operation_role !== 'developer'
  return (
    <fieldset class="start-modes">
      <legend class="field-label">Mode</legend>
      <Column {...props} operation="generate" title="Change">
        <p class="start-apply small quiet">
          Apply comes later: it carries out the <Term name="saved plan" /> that you reviewed, from the{' '}
          <Link to="/sessions">session</Link> that made it.
        </p>
      </Column>
      <Column {...props} operation="drift" title={<Term name="drift">Drift</Term>} locked={!mayDrift} />
      <Column {...props} operation="import" title="Import" />
    </fieldset>
  )
}

interface ColumnProps extends ModeCardsProps {
  operation: Mode['operation']
  title: ComponentChildren
  locked?: boolean
  children?: ComponentChildren
}

function Column({ operation, title, locked = false, chosen, choose, children }: ColumnProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset inside of a fieldset would be read as a second question
    <div class="start-column" role="group" aria-label={operation}>
      <p class="start-column-title">{title}</p>
      {locked && (
        <p class="small start-warn" id="start-locked">
          Needs the operation role devops; yours is developer. An administrator can change it.
        </p>
      )}
      {MODES.filter((mode) => mode.operation === operation).map(({ name, title, says }) => (
        <label key={name} class="start-mode">
          <input
            type="radio"
            name="mode"
            value={name}
            checked={name === chosen}
            disabled={locked && name !== chosen}
            aria-describedby={locked ? 'start-locked' : undefined}
            onChange={() => choose(name)}
          />
          <span>
            <b>{title}</b> <span class="small quiet">{says}</span>
          </span>
        </label>
      ))}
      {children}
    </div>
  )
}
