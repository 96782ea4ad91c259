# frozen_string_literal: true

module EventMachine
  # Makes a callable from a block, from an object with the method `call`, or from an object and the name of its method.
  #
  # @return [#call]
  # @raise [ArgumentError] when there is none of the three
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
