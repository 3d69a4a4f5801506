"""A definition as a filter: match records, bind variables, explain what does not fit."""
