"""Search: what is indexed of Groups and Resources, and how it is found again."""
