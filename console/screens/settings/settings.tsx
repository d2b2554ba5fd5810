import { useState } from 'preact/hooks'
import { type Permission, readPermission } from '../../client/end-notification.ts'
import { usePlatform, useStore } from '../../client/platform.ts'
import type { Settings } from '../../client/settings.ts'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Term } from '../../ui/term.tsx'
import { Account } from './account.tsx'

/** How the console looks and behaves in this browser, and who is signed in. */
export const Screen = () => (
  <Page title="Settings" lead="They apply at once and are kept in this browser alone.">
    <Appearance />
    <EndOfRounds />
    <Account />
  </Page>
)

const THEMES: [Settings['theme'], string, string][] = [
  ['system', 'As the system', 'Follows what your device is set to.'],
  ['light', 'Light', ''],
  ['dark', 'Dark', ''],
]
const DENSITIES: [Settings['density'], string, string][] = [
  ['comfortable', 'Comfortable', 'More space around every row.'],
  ['compact', 'Compact', 'More rows on the screen.'],
]

function Appearance() {
  const { settings } = usePlatform()
  const value = useStore(settings)
  const change = (part: Partial<Settings>) => settings.set({ ...settings.get(), ...part })
  return (
    <section class="card settings-part" aria-labelledby="settings-appearance">
      <h2 id="settings-appearance">Appearance</h2>
      <Choice name="theme" legend="Theme" options={THEMES} chosen={value.theme} choose={(theme) => change({ theme })} />
      <Choice
        name="density"
        legend="Density"
        options={DENSITIES}
        chosen={value.density}
        choose={(density) => change({ density })}
      />
    </section>
  )
}

function EndOfRounds() {
  const { settings } = usePlatform()
  const { notify } = useStore(settings)
  const [permission, setPermission] = useState<Permission>(readPermission)
  const set = async (wanted: boolean) => {
    if (!wanted) return settings.set({ ...settings.get(), notify: false })
    // Browsers show their question only in answer to a click.
    if (permission === 'default') await Notification.requestPermission()
    const now = readPermission()
    setPermission(now)
    settings.set({ ...settings.get(), notify: now === 'granted' })
  }
  return (
    <section class="card settings-part" aria-labelledby="settings-notify">
      <h2 id="settings-notify">Browser notification</h2>
      <label class="settings-option">
        <input
          type="checkbox"
          checked={notify && permission === 'granted'}
          disabled={permission === 'unsupported' || permission === 'denied'}
          aria-describedby="settings-notify-hint"
          onChange={(event) => {
            const { checked } = event.currentTarget
            // What the box shows follows from the permission, which may be refused.
            event.currentTarget.checked = notify && permission === 'granted'
            void set(checked)
          }}
        />
        <span>Tell me when a round ends</span>
      </label>
      <p class="quiet small" id="settings-notify-hint">
        When a <Term name="round" /> of a session that is open in a tab ends while you look elsewhere. It shows your
        request and how the round ended, nothing of the plan.
      </p>
      <div role="status">{notify || permission !== 'granted' ? <Refusal permission={permission} /> : null}</div>
    </section>
  )
}

function Refusal({ permission }: { permission: Permission }) {
  if (permission === 'denied')
    return (
      <Notice tone="warn" title="Your browser does not allow notifications of this page">
        A page cannot ask twice. Allow them in the browser: the sign beside the address, then “Notifications”. Then load
        this page again.
      </Notice>
    )
  if (permission === 'unsupported')
    return (
      <Notice title="This browser has no notifications here">
        It offers none, or the console was not opened over https.
      </Notice>
    )
  return null
}

interface ChoiceProps<Value extends string> {
  name: string
  legend: string
  options: readonly [Value, name: string, says: string][]
  chosen: Value
  choose: (value: Value) => void
}

/** One of a few settings; each says in a line what it does. */
export function Choice<Value extends string>({ name, legend, options, chosen, choose }: ChoiceProps<Value>) {
  return (
    <fieldset class="settings-choice">
      <legend class="field-label">{legend}</legend>
      {options.map(([value, title, says]) => (
        <label key={value} class="settings-option">
          <input type="radio" name={name} value={value} checked={value === chosen} onChange={() => choose(value)} />
          <span>
            {title} <span class="quiet small">{says}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
