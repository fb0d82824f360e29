/** A tag of a bucket or an object. Tags are kept in the order they were given. */
export type Tag = {
  readonly key: string
  readonly value: string
}
