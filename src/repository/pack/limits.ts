/**
 * What a pack may ask for. Its sizes are compared with these limits before memory is taken. A repository that is
 * reached with `filter=blob:none` stays far below all of them.
 */
export interface PackLimits {
  /** Objects of all kinds. */
  objects: number
  /** Bytes of one commit, tree or delta, inflated. */
  objectBytes: number
  /** Bytes of all commits, trees and deltas together, inflated. */
  keptBytes: number
  /** Bytes of all objects together as the pack declares them, with the contents of files, which are skipped. */
  declaredBytes: number
}

export const PACK_LIMITS: PackLimits = {
  objects: 300_000,
  objectBytes: 16 * 1024 * 1024,
  keptBytes: 64 * 1024 * 1024,
  declaredBytes: 2 * 1024 * 1024 * 1024,
}
