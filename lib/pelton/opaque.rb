# frozen_string_literal: true

module Pelton
  # For classes whose objects hold what may be secret: requests, cookies, keys, passwords. `inspect`, `to_s` and `pp`
  # show the class alone. Ruby's own `inspect` shows all instance variables, and errors and logs contain it: before Ruby
  # 3.4 the message of each NameError does.
  module Opaque
    # @return [String] the class alone
    def inspect = "#<#{self.class}>"

    # @return [String] (see #inspect)
    def to_s = inspect

    # @private For `pp`, which would show the members of a Struct and the pairs of a Hash.
    def pretty_print(printer) = printer.text(inspect)

    # @private
    def pretty_print_cycle(printer) = printer.text(inspect)
  end
end
