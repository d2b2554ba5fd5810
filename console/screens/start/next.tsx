import { Term } from '../../ui/words/term.tsx'

/** What comes after sending. Whoever has no session yet sees it at once. */
export function Next({ open }: { open: boolean }) {
  return (
    <details class="start-next" open={open}>
      <summary>What happens after you send</summary>
      <ol>
        <li>
          <b>
            The platform works in a <Term name="round" />.
          </b>{' '}
          A model writes code on a branch of its own, the engine checks it, and you can watch, stop and ask further.
        </li>
        <li>
          <b>
            You review the <Term name="plan" />.
          </b>{' '}
          Resource by resource, with its <Term name="impact" /> and the rules that it meets or breaks.
        </li>
        <li>
          <b>
            What you reviewed gets a <Term name="seal" />.
          </b>{' '}
          You open the pull request, and apply exactly that plan or nothing.
        </li>
      </ol>
    </details>
  )
}
