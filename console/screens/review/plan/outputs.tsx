import type { PlanDocument } from '../../../client/api/types.ts'
import { ActionBadge } from '../../../ui/badge.tsx'
import { Change } from '../../../ui/plan/value-change.tsx'
import { shorten, visibleText } from '../../../ui/words/text.ts'
import { FirstOf } from './first-of.tsx'
import { Section } from './section.tsx'

/** What the code answers to others, such as an address, as far as it changes. */
export const Outputs = ({ outputs }: { outputs: PlanDocument['outputs'] }) => (
  <Section
    title={
      <>
        Outputs <span class="quiet">{outputs.length} change</span>
      </>
    }
  >
    <FirstOf items={outputs}>
      {(shown) => (
        <div class="plan-changes">
          <table class="plan-table">
            <thead>
              <tr>
                <th scope="col">Output</th>
                <th scope="col">Now</th>
                <th scope="col">After the apply</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((output) => (
                <tr key={output.name}>
                  <th scope="row">
                    <span class="plan-name">{visibleText(shorten(output.name, 200))}</span>
                    <ActionBadge action={output.action} />
                  </th>
                  <Change sides={output} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </FirstOf>
  </Section>
)
