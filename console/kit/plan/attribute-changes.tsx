import type { PlannedResource } from '../../api/types.ts'

/** What changes in a resource, attribute by attribute, for people who have never seen HCL. */
export const AttributeChanges = ({ resource }: { resource: PlannedResource }) => <p>{resource.address}</p>
