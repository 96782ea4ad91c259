# frozen_string_literal: true

module Pelton
  # Finds the name that a misspelt one was meant to be.
  #
  # @param name [String, Symbol]
  # @param names [Array<String, Symbol>] those that there are
  # @return [String] "; did you mean workers?", or "" if none is similar
  # @private
  def self.suggestion(name, names)
    return "" unless defined?(::DidYouMean) # ruby --disable-did_you_mean
    found = ::DidYouMean::SpellChecker.new(dictionary: names.map(&:to_s)).correct(name.to_s).first
    found ? "; did you mean #{found}?" : ""
  end
end
