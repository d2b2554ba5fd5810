import { useId } from 'preact/hooks'

export const MEANINGS = {
  round: 'One request and all work on it, from reading the repository to the report.',
  session: 'A conversation about one folder of one repository. Its requests build on each other, on one branch.',
  plan: 'The changes that the engine would make to the cloud for the present code. The engine computes it, not a model.',
  'saved plan': 'The reviewed plan as the engine stored it. Apply carries out exactly this plan, or nothing.',
  scope: 'The part of the cloud that a session works on: a subscription, project, account or compartment.',
  drift: 'A difference between the code and the cloud.',
  attempt: 'One try at the code. When the engine or a check refuses it, the next attempt fixes the findings.',
  lock: 'Apply and merge are refused until a panel editor unlocks the session.',
  targets: 'The resources that the request is about. Everything else should stay unchanged.',
  impact: 'How much damage the plan could do, computed by code. It decides whether the session is locked.',
  compliance: 'Rules that code checks in the plan, such as encryption and public access.',
} as const

type TermName = keyof typeof MEANINGS

/** Shows a word of the product, with its meaning on hover, focus or tap. */
export function Term({ name, children }: { name: TermName; children?: string }) {
  const id = useId().replaceAll(':', '')
  return (
    <>
      <button type="button" class="term" popovertarget={id}>
        {children ?? name}
      </button>
      <span popover="auto" id={id} class="term-meaning">
        <b>{children ?? name}</b> {MEANINGS[name]}
      </span>
    </>
  )
}
