import { useMutation, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/client.ts'
import { useDraft } from '../../client/drafts.ts'
import { useMe, usePlatform } from '../../client/platform.ts'
import { useRecentSessions } from '../../client/sessions/use-session.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { COMMAND, Form, type Options, SelectField, TextArea, TextField } from '../../ui/controls.tsx'
import { Button, Copy, ErrorNotice, MEANINGS, Notice } from '../../ui/kit.tsx'
import { Page } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { findFaults, type Question as Message, readFailure, SEVERITIES, toMessage } from './question-message.ts'

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

/** Shows the form for a question to all users with the panel role editor. `?session=<id>` preselects the session. */
function Question() {
  const { session } = useAnySearch()
  const about = typeof session === 'string' ? session : ''
  const { value, change, clear } = useDraft<Message>('question', EMPTY)
  const question = { ...value, session_id: value.session_id ?? about }
  const { send, message, faults } = useSending(question, clear)
  return (
    <section class="card help-part" aria-labelledby="help-ask">
      <h2 id="help-ask">Contact an administrator</h2>
      <p class="quiet">
        Your question is sent to all users with at least the panel role editor, and to you. It includes your e-mail
        address.
      </p>
      <Form class="help-form" noValidate aria-labelledby="help-ask" send={send}>
        <TextField
          id="help-subject"
          label="Subject"
          error={faults.subject}
          dir="auto"
          aria-required
          placeholder="Why was my session locked?"
          value={question.subject}
          change={(subject) => change({ subject })}
        />
        <TextArea
          id="help-body"
          label="Your question"
          error={faults.body}
          hint="Do not include passwords or keys."
          rows={5}
          aria-required
          value={question.body}
          change={(body) => change({ body })}
        />
        <div class="help-pair">
          <SelectField
            id="help-severity"
            label="Urgency"
            error={faults.severity}
            options={SEVERITIES}
            value={question.severity}
            change={(severity) => change({ severity: severity as Message['severity'] })}
          />
          <About session_id={question.session_id} change={change} />
        </div>
        <div role="status">
          <Outcome message={message} question={question} />
        </div>
        <p>
          <Button kind="primary" type="submit" busy={message.isPending}>
            {message.isPending ? 'Sending' : 'Send question'}
          </Button>
        </p>
      </Form>
    </section>
  )
}

const EMPTY: Message = { subject: '', body: '', severity: 'info', session_id: null }
const KEY = ['question']

function useSending(question: Message, clear: () => void) {
  const { api } = usePlatform()
  const client = useQueryClient()
  const me = useMe().data
  const from = me?.email ?? me?.display_name ?? null
  const [faults, setFaults] = useState<Record<string, string>>({})
  const refuse = (found: Record<string, string>) => {
    setFaults(found)
    const [first] = Object.keys(found)
    if (first) document.getElementById(`help-${first}`)?.focus()
    return first !== undefined
  }
  const message = useMutation({
    mutationKey: KEY,
    mutationFn: () => calls.notify(api, { body: toMessage(question, { origin: location.origin, from }) }),
    onSuccess: clear,
    onError: (error) => refuse(readFailure(error).faults),
  })
  const send = () => {
    // The state of the mutation changes only with the next drawing.
    if (client.isMutating({ mutationKey: KEY }) > 0) return
    message.reset()
    if (!refuse(findFaults(question))) message.mutate()
  }
  return { send, message, faults }
}

interface OutcomeProps {
  message: Pick<ReturnType<typeof useSending>['message'], 'data' | 'error'>
  question: Message
}

function Outcome({ message: { data, error }, question }: OutcomeProps) {
  if (data)
    return (
      <Notice tone="good" title="Your question was sent">
        You will be answered outside the console. Delivery <code>{data.delivery_id}</code>.
      </Notice>
    )
  const kind = error && readFailure(error).kind
  if (kind === 'disabled')
    return (
      <Notice
        tone="warn"
        title="Messages are disabled"
        actions={<Copy text={`${question.subject}\n\n${question.body}`} label="Copy the question" />}
      >
        The operator has not configured the service that delivers them. Copy your question and contact an administrator
        in another way. It is kept here.
      </Notice>
    )
  return kind === 'other' && <ErrorNotice error={error} title="Your question was not sent. It is kept here." />
}

function About({ session_id, change }: { session_id: string | null; change: (part: Partial<Message>) => void }) {
  const sessions = useRecentSessions().data?.slice(0, 20) ?? []
  const isListed = !session_id || sessions.some(({ uuid }) => uuid === session_id)
  const cut = (text: string) => shorten(visibleText(text), 60)
  const options: Options = [
    ['', 'None'],
    ...(isListed ? [] : [[session_id, cut(session_id)] as const]),
    ...sessions.map(
      ({ uuid, first_query, workspace }) =>
        [uuid, `${cut(first_query ?? 'Session')} (${visibleText(repositoryName(workspace.uri))})`] as const,
    ),
  ]
  return (
    <SelectField
      id="help-session"
      label="Session"
      optional
      hint="The question includes a link to it."
      options={options}
      value={session_id ?? ''}
      change={(id) => change({ session_id: id })}
    />
  )
}
