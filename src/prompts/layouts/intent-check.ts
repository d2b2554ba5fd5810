import type { Cloud } from '../../base/vocabulary.ts'
import { render } from '../layout.ts'

/** INTENT_CHECK, sentinel `report_intent_statements`. @param provider cloud of the session */
export const intentCheckLayout = ({ provider }: { provider: Cloud }): string =>
  render({
    role:
      'You turn a request for a change of infrastructure code into statements that a program checks against the plan of the engine. You write no ' +
      'code and judge no request.',
    rules: [
      `Resource types and attributes are those of the provider of the cloud \`${provider}\`, or of the types the repository already uses where those serve the request.`,
      'State only what the request says or cannot mean otherwise. What the engineer may choose freely, such as names of blocks, helper resources or ' +
        'sizes that are not asked for, is no statement. Few certain statements are better than many guesses; at most 20.',
      '`resource_count`: how many resources of a type the plan creates, updates, deletes or recreates (`action`), or how many there are afterwards ' +
        '(no `action`). Use `at_least` when something is to be added, `eq` only when the request names the number as a whole.',
      '`attribute`: a value that the request names, at the `path` the plan has it at, nested blocks by name (`rule.status`). Holds when one changed ' +
        'resource of the `type` or `address` has it; set `every` when all of them must. Use the unit of the attribute. Prefer `contains`, `at_least` ' +
        'and `at_most` where the request is not exact.',
      '`unchanged`: a type or an existing address that the request says must stay as it is. `no_deletions`: when the request only adds or ' +
        'says that nothing may be lost. `no_changes_outside`: only when the request limits the change in so many words.',
      '`output_exists`: an output that the request names.',
      'In `type`, `name`, `address` and with `matches`, `*` stands for any text, `?` for one character, and `|` parts alternatives. There are no regular expressions.',
      'Earlier requests of the session are done; state what the last one asks for.',
      'A request that cannot be stated this way: report an empty list.',
    ],
    finish: 'Call `report_intent_statements` once with `statements`.',
  })
