# frozen_string_literal: true

# The adapter by its name in an address: Sequel.connect("pelton-sqlite://app.db").
require "pelton/sequel/sqlite"
