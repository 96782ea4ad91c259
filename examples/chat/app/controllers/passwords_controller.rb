# frozen_string_literal: true

# Changes the password of a user who knows the current one. Signs out all other devices.
class PasswordsController < ApplicationController
  before_action :require_sign_in
  rate_limit to: 10, within: 900, only: :update, by: -> { current_user&.id }

  def edit
    @user = current_user
  end

  def update
    @user = current_user
    form = params.require(:user).permit(:present_password, :password)
    return refuse unless @user.password?(form[:present_password])
    remember = current_sign_in.remembered
    return render(:edit, status: 422) unless @user.change_password(form[:password])
    sign_in(@user, remember: remember)
    BACKGROUND.run("mail about a password") { UserMails.password_changed(@user) }
    redirect_to devices_path, notice: "Your password has changed. All other devices are signed out."
  end

  private

  def refuse
    flash.now[:alert] = "The present password is wrong."
    render :edit, status: 422
  end
end
