import { Origin } from '../../ui/badge.tsx'
import { Term } from '../../ui/words/term.tsx'

/** What the description of a pull request will contain, before there is one. */
export const Description = ({ hasPlan }: { hasPlan: boolean }) => (
  <section class="card seal-card" aria-labelledby="pull-request-contents">
    <h3 id="pull-request-contents">What its description contains</h3>
    <ul class="pull-request-contents">
      <li>
        Title and summary <Origin by="model" />
        <span class="quiet small seal-block">
          Code writes both from the requests when the model takes longer than 20 seconds, and the summary says so.
        </span>
      </li>
      <li>
        What the <Term name="plan" /> changes, with moves, imports and forgotten objects <Origin by="code" />
        {!hasPlan && <span class="quiet small seal-block">There is no plan in this session yet.</span>}
      </li>
      <li>
        <Term name="impact">Impact</Term>, <Term name="compliance" /> and the cost estimate <Origin by="code" />
      </li>
      <li>
        Assumptions <Origin by="model" />
      </li>
      <li>
        What would change outside the <Term name="targets" />, and drift that was found <Origin by="code" />
      </li>
      <li>
        How to roll back each kind of change, before and after the plan is applied <Origin by="code" />
      </li>
      <li>
        Which session it came from <Origin by="code" />
      </li>
    </ul>
    <p class="quiet">
      Text from requests, plans and models is put in as plain text: no link, mention or command in it works. A part that
      cannot be read is named as missing.
    </p>
  </section>
)
