import { useRecentSessions } from '../../client/sessions/use-session.ts'
import { Field } from '../../ui/field.tsx'
import { repositoryName, shorten, visibleText } from '../../ui/words.ts'
import { type Question, SEVERITIES } from './question-message.ts'

interface QuestionFieldsProps {
  question: Question
  change: (part: Partial<Question>) => void
  faults: Record<string, string>
}

export function QuestionFields({ question, change, faults }: QuestionFieldsProps) {
  return (
    <>
      <Field id="help-subject" label="What it is about" error={faults.subject}>
        {(control) => (
          <input
            {...control}
            dir="auto"
            aria-required
            placeholder="Why was my session locked?"
            value={question.subject}
            onInput={({ currentTarget }) => change({ subject: currentTarget.value })}
          />
        )}
      </Field>
      <Field id="help-body" label="Your question" error={faults.body} hint="No passwords or keys: it is sent as it is.">
        {(control) => (
          <textarea
            {...control}
            dir="auto"
            rows={5}
            aria-required
            value={question.body}
            onInput={({ currentTarget }) => change({ body: currentTarget.value })}
          />
        )}
      </Field>
      <div class="help-pair">
        <Field id="help-severity" label="How pressing it is" error={faults.severity}>
          {(control) => (
            <select
              {...control}
              value={question.severity}
              onChange={({ currentTarget }) => change({ severity: currentTarget.value as Question['severity'] })}
            >
              {SEVERITIES.map(([severity, name]) => (
                <option key={severity} value={severity}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <About question={question} change={change} />
      </div>
    </>
  )
}

const LONGEST_NAME = 60
const OFFERED = 20

function About({ question, change }: Pick<QuestionFieldsProps, 'question' | 'change'>) {
  const sessions = useRecentSessions().data?.slice(0, OFFERED) ?? []
  const isListed = sessions.some(({ uuid }) => uuid === question.session_id)
  return (
    <Field id="help-session" label="Session" optional hint="A link to it goes with the question.">
      {(control) => (
        <select
          {...control}
          value={question.session_id ?? ''}
          onChange={({ currentTarget }) => change({ session_id: currentTarget.value })}
        >
          <option value="">None</option>
          {question.session_id && !isListed && (
            <option value={question.session_id}>{shorten(visibleText(question.session_id), LONGEST_NAME)}</option>
          )}
          {sessions.map(({ uuid, first_query, workspace }) => (
            <option key={uuid} value={uuid}>
              {shorten(visibleText(first_query ?? 'Session'), LONGEST_NAME)} (
              {visibleText(repositoryName(workspace.uri))})
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
