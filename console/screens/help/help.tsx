import { usePlatform } from '../../client/platform.ts'
import { Page } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { MEANINGS } from '../../ui/term.tsx'
import { Question } from './question.tsx'

/** Shows the help screen: facts, words, keys, and a question form. */
export const Screen = () => (
  <Page title="Help" lead="Models propose, code decides, you review.">
    <nav aria-label="On this page" class="help-contents">
      <a href="#help-may">What it may do</a>
      <a href="#help-words">Words</a>
      <a href="#help-keys">Keys</a>
      <a href="#help-ask">Contact an administrator</a>
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
  'Validates and plans that code with a real engine (OpenTofu or Terraform), and retries with its diagnostics.',
  'Computes from the plan what would be created, changed and destroyed, checks it against rules, and reports it.',
  'Opens a pull request, and merges it on request if the branch contains only reviewed code.',
  'Applies the reviewed plan, once, on request.',
  'Reconciles drift in the code, and imports unmanaged resources into code and state. Both have a preview.',
]
const MAY_NOT = [
  'Nothing is applied automatically: a request ends with a plan to review.',
  'A model never changes a status, a lock, a branch or the cloud. It calls tools; code checks, counts and refuses.',
  'Apply never makes a new plan. When the state has changed since the review, it changes nothing and says so.',
  'In a locked session nothing is applied or merged until a later request passes, or a panel editor unlocks it.',
  'Sensitive values of a plan are masked before they reach a model, a document or a pull request.',
  'The audit contains names, numbers and addresses, never the text of a request.',
]
const REMAINS = [
  'An import writes code and state while it runs: use a preview first when you are not sure what it would import.',
  'Code runs in the engine before anybody has reviewed it, at init and plan, with the credentials of its cloud.',
  'Texts of a model may be wrong or incomplete. Facts are marked as computed by code or as written by a model.',
  'Masking recognises encodings, not computations: a reversed secret, or one split into characters, is not masked.',
]

/** Shows the capabilities, guarantees and risks of the platform. */
function Facts() {
  const { config } = usePlatform()
  return (
    <section class="card help-part" aria-labelledby="help-may">
      <h2 id="help-may">What the platform does, and what it never does</h2>
      <List title="It does" items={MAY} />
      <List title="Guarantees" items={MAY_NOT} />
      <List title="Be careful" items={REMAINS} />
      <p class="small quiet">
        The console uses only the <a href={docsOf(config.api_url)}>API</a>, which other programs can use as well.
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

/** Returns the address of the API's own pages: `/api/docs` for `/api/v1`. */
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

const Keys = () => (
  <section class="card help-part" aria-labelledby="help-keys">
    <h2 id="help-keys">Keys</h2>
    <Table head={['Keys', 'What they do']}>
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
    </Table>
  </section>
)
