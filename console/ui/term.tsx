import { useId } from 'preact/hooks'

/** The words of the product and what they mean. */
export const MEANINGS = {
  round: 'One request and everything the platform does for it, from reading the repository to the report.',
  session: 'A conversation about one folder of one repository. Its requests build on each other, on one branch.',
  plan: 'What the engine would do to the cloud with the code as it is now: computed by the engine, not by a model.',
  seal: 'A fingerprint of the reviewed plan. Apply carries out exactly this plan, or nothing.',
  scope: 'What the work is limited to in the cloud: a subscription, project, account or compartment.',
  drift: 'What differs between the code and the cloud because somebody changed one of them alone.',
  attempt: 'One try at the code. When the engine or a check refuses it, the next one mends what was found.',
  lock: 'Apply and merge are refused until somebody with a role in the panel has looked.',
  targets: 'The resources that the request is about. Everything outside of them should stay as it is.',
  impact: 'How much the plan could break. Code counts it from the plan; it decides whether the session is locked.',
  compliance: 'Rules that code checks in the plan, such as encryption and public access.',
} as const

type TermName = keyof typeof MEANINGS

/** A word of the product, which explains itself when it is asked: hover, focus or tap. */
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
