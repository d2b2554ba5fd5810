import { usePlatform } from '../../client/platform.ts'
import { Page } from '../../ui/page.tsx'
import { MEANINGS } from '../../ui/term.tsx'
import { Question } from './question.tsx'

/** What the platform is, in plain words, and the way to the people in charge. */
export const Screen = () => (
  <Page title="Help" lead="Models propose, code decides, you review.">
    <nav aria-label="On this page" class="help-contents">
      <a href="#help-may">What it may do</a>
      <a href="#help-words">Words</a>
      <a href="#help-keys">Keys</a>
      <a href="#help-ask">Ask the people in charge</a>
    </nav>
    <Facts />
    <section class="card help-part" aria-labelledby="help-words">
      <h2 id="help-words">Words of the platform</h2>
      <dl class="help-words">
        {Object.entries(MEANINGS)
          .sort(([one], [other]) => one.localeCompare(other))
          .map(([word, meaning]) => (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
      </dl>
    </section>
    <Keys />
    <Question />
  </Page>
)

const MAY = [
  'Reads the repository that you name, and writes code on a branch of its own for each session.',
  'Has a real engine (OpenTofu or Terraform) validate and plan that code, and tries again with what the engine says.',
  'Counts from the plan what would be created, changed and destroyed, checks it against rules, and reports it.',
  'Opens a pull request, and merges it when you ask for that and only what was reviewed is on the branch.',
  'Applies the plan that was reviewed, once, when you ask for it.',
  'Writes drift into the code, and takes what nobody manages into code and state. Both can only look, too.',
]
const MAY_NOT = [
  'Nothing is applied by itself: a request ends with a plan to review.',
  'A model never changes a status, a lock, a branch or the cloud. It calls tools; code checks, counts and refuses.',
  'Apply never makes a new plan. When the state has moved since the review, it changes nothing and says so.',
  'In a locked session nothing is applied or merged until a later request passes, or a panel editor unlocks it.',
  'Sensitive values of a plan are masked before a model, a document or a pull request gets them.',
  'The record of who did what holds names, numbers and addresses, never the text of a request.',
]
const REMAINS = [
  'An import writes code and state while it runs: look first when you are not sure what it would take in.',
  'Code runs in the engine before anybody has reviewed it, at init and plan, with the credentials of its cloud.',
  'What a model writes may be wrong or incomplete. Facts are marked as counted by code or as said by a model.',
  'Masking knows encodings, not computations: a secret that is reversed or split into characters passes.',
]

/** What the platform does, what it never does, and what remains to be careful about. */
export function Facts() {
  const { config } = usePlatform()
  return (
    <section class="card help-part" aria-labelledby="help-may">
      <h2 id="help-may">What the platform may do, and what not</h2>
      <List title="It does" items={MAY} />
      <List title="What always holds" items={MAY_NOT} />
      <List title="Be careful" items={REMAINS} />
      <p class="small quiet">
        All that the console shows comes from the <a href={docsOf(config.api_url)}>API</a>, which other programs can use
        as well.
      </p>
    </section>
  )
}

const List = ({ title, items }: { title: string; items: readonly string[] }) => (
  <>
    <h3>{title}</h3>
    <ul class="help-list">
      {items.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  </>
)

/** The API's own pages stand beside it: `/api/v1` has `/api/docs`. */
const docsOf = (api: string): string => api.replace(/\/v1$/, '/docs')

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform)
const COMMAND = IS_MAC ? '⌘' : 'Ctrl'

const KEYS: [keys: string[], does: string][] = [
  [[COMMAND, 'K'], 'Go anywhere: a screen, a session by its id, or requests by their words.'],
  [['Tab'], 'Go on to the next field or button; with Shift back.'],
  [['Enter'], 'In a form sends it; in the text of a request begins a new line.'],
  [[COMMAND, 'Enter'], 'Send the request from its text.'],
  [['↑', '↓'], 'Choose among modes, settings and entries of a list.'],
  [['Esc'], 'Close a dialog, a list or the meaning of a word.'],
]

/** What works from the keyboard. */
export const Keys = () => (
  <section class="card help-part" aria-labelledby="help-keys">
    <h2 id="help-keys">Keys</h2>
    <table>
      <thead>
        <tr>
          <th scope="col">Keys</th>
          <th scope="col">What they do</th>
        </tr>
      </thead>
      <tbody>
        {KEYS.map(([keys, does]) => (
          <tr key={does}>
            <th scope="row" class="help-keys">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </th>
            <td>{does}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
