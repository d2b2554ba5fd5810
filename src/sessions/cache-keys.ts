const DAY_S = 24 * 60 * 60

/** Key of the cached detail of a finished session. */
export const sessionAggregateKey = (uuid: string): string => `platform:session:${uuid.toLowerCase()}:aggregate`

/** Seconds: a day plus up to a tenth, so that entries written together do not lapse together. */
export const sessionAggregateTtl = (random = Math.random()): number => Math.floor(DAY_S * (1 + 0.1 * random))
