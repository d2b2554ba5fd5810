import { useState } from 'preact/hooks'
import type { User } from '../../client/api/client.ts'
import { type Permission, readPermission } from '../../client/end-notification.ts'
import { useMe, usePlatform, useStore } from '../../client/platform.ts'
import type { Settings } from '../../client/settings.ts'
import { Badge, Button, ErrorNotice, Notice, Skeleton, Term, type Tone } from '../../ui/kit.tsx'
import { Page } from '../../ui/page.tsx'
import { visibleText } from '../../ui/words.ts'

export const Screen = () => (
  <Page title="Settings" lead="They apply at once and are stored in this browser only.">
    <Appearance />
    <EndOfRounds />
    <Account />
  </Page>
)

const THEMES: [Settings['theme'], string, string][] = [
  ['system', 'As the system', 'Follows the setting of your device.'],
  ['light', 'Light', ''],
  ['dark', 'Dark', ''],
]
const DENSITIES: [Settings['density'], string, string][] = [
  ['comfortable', 'Comfortable', 'More space around every row.'],
  ['compact', 'Compact', 'More rows on the screen.'],
]

const Appearance = () => (
  <section class="card settings-part" aria-labelledby="settings-appearance">
    <h2 id="settings-appearance">Appearance</h2>
    <Choice name="theme" legend="Theme" options={THEMES} />
    <Choice name="density" legend="Density" options={DENSITIES} />
  </section>
)

function EndOfRounds() {
  const { settings } = usePlatform()
  const { notify } = useStore(settings)
  const [permission, setPermission] = useState<Permission>(readPermission)
  const set = async (wanted: boolean) => {
    if (!wanted) return settings.set({ ...settings.get(), notify: false })
    // Browsers show their prompt only in response to a click.
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
            // The checkbox follows the permission, which may be denied.
            event.currentTarget.checked = notify && permission === 'granted'
            void set(checked)
          }}
        />
        <span>Notify me when a round ends</span>
      </label>
      <p class="quiet small" id="settings-notify-hint">
        When a <Term name="round" /> of a session that is open in a tab ends while the page is hidden. It shows your
        request and how the round ended, but nothing of the plan.
      </p>
      <div role="status">{notify || permission !== 'granted' ? <Refusal permission={permission} /> : null}</div>
    </section>
  )
}

function Refusal({ permission }: { permission: Permission }) {
  if (permission === 'denied')
    return (
      <Notice tone="warn" title="Your browser blocks notifications of this page">
        Allow them in the browser: select the icon beside the address, then “Notifications”. Then reload this page.
      </Notice>
    )
  if (permission === 'unsupported')
    return (
      <Notice title="Notifications are not available">
        The browser does not support them, or the console was not opened over https.
      </Notice>
    )
  return null
}

interface ChoiceProps<Name extends keyof Settings> {
  name: Name
  legend: string
  options: readonly [Settings[Name] & string, title: string, says: string][]
}

/** Shows one setting of a few choices, each with a line of explanation. */
function Choice<Name extends keyof Settings>({ name, legend, options }: ChoiceProps<Name>) {
  const { settings } = usePlatform()
  const chosen = useStore(settings)[name]
  const choose = (value: Settings[Name]) => settings.set({ ...settings.get(), [name]: value })
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

const OPERATION: Record<User['operation_role'], string> = {
  developer: 'May request changes and imports, open and merge pull requests, and apply. May not request drift rounds.',
  devops: 'May do everything in own sessions: changes, drift, imports, pull requests and apply.',
}
const PANEL: Record<NonNullable<User['panel_role']> | 'none', string> = {
  none: 'Sees only own sessions.',
  viewer: 'May read all sessions and the audit.',
  editor: 'May read, lock, unlock and stop all sessions.',
  admin: 'May read, lock, unlock and stop all sessions, and assign roles.',
}

function Account() {
  const { signIn } = usePlatform()
  const state = useStore(signIn.state)
  const me = useMe()
  return (
    <section class="card settings-part" aria-labelledby="settings-account">
      <h2 id="settings-account">Signed in</h2>
      {me.data ? <Facts user={me.data} /> : !me.error && <Skeleton lines={4} />}
      {me.error && (
        <ErrorNotice error={me.error} title="Your user could not be loaded" retry={() => void me.refetch()} />
      )}
      {state === 'open' ? (
        <p class="quiet small">Sign-in is not configured: every request counts as one of the local developer.</p>
      ) : (
        <p>
          <Button onClick={() => void signIn.end()}>Sign out</Button>
        </p>
      )}
    </section>
  )
}

function Facts({ user }: { user: User }) {
  const panel = user.panel_role ?? 'none'
  return (
    <>
      <dl class="settings-facts">
        <dt>Name</dt>
        <dd>{visibleText(user.display_name || 'not given')}</dd>
        <dt>E-mail</dt>
        <dd>{visibleText(user.email || 'not given')}</dd>
        <dt>Operation role</dt>
        <Role name={user.operation_role} means={OPERATION[user.operation_role]} />
        <dt>Panel role</dt>
        <Role name={panel} means={PANEL[panel]} tone={panel === 'none' ? 'neutral' : 'accent'} />
      </dl>
      <p class="quiet small">Roles are assigned by administrators. New roles take effect with your next request.</p>
    </>
  )
}

const Role = ({ name, means, tone = 'accent' }: { name: string; means: string; tone?: Tone }) => (
  <dd>
    <Badge tone={tone}>{name}</Badge> <span class="quiet">{means}</span>
  </dd>
)
