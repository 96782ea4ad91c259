# frozen_string_literal: true

module EventMachine
  # Makes something to call of a block, of an object that answers to `call`, or of an object and a method's name.
  #
  # @return [#call]
  # @raise [ArgumentError] of nothing
  def self.Callback(object = nil, method = nil, &block)
    if object && method
      ->(*arguments) { object.__send__(method, *arguments) }
    elsif object.respond_to?(:call)
      object.method(:call)
    else
      block || raise(ArgumentError)
    end
  end
end
