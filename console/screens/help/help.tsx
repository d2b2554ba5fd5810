import { Page } from '../../ui/page.tsx'
import { MEANINGS } from '../../ui/words/term.tsx'
import { Facts } from './facts.tsx'
import { Keys } from './keys.tsx'
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
